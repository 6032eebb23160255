// A copy of Examples/CCrypto/Makefile, made by .ci/embed-templates.
// swift-format-ignore-file
extension EmbeddedText {
    static let cCryptoMakefile = #"""
# libCCrypto.so, a LocalData plugin in C: needs a C compiler, localdata/plugin.h and libsodium (Debian: libsodium-dev).
CC ?= cc
CFLAGS ?= -O2 -g
LD_HOST ?= ld-host
INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include
SODIUM ?= $(shell pkg-config --cflags --libs libsodium)

FLAGS = -std=c11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -I $(INCLUDE)

.PHONY: all test clean

all: libCCrypto.so

libCCrypto.so: ccrypto.c $(INCLUDE)/localdata/plugin.h
	$(CC) $(FLAGS) $(CFLAGS) -shared -o $@ ccrypto.c $(SODIUM)

test-ccrypto: test.c ccrypto.c $(INCLUDE)/localdata/plugin.h
	$(CC) $(FLAGS) $(CFLAGS) -o $@ test.c ccrypto.c $(SODIUM)

# The plugin's own test, then every promise of a crypto provider.
test: libCCrypto.so test-ccrypto
	./test-ccrypto
	$(LD_HOST) plugins test ./libCCrypto.so

clean:
	rm -f libCCrypto.so test-ccrypto

"""#
}
