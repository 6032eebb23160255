// A copy of Examples/CBackend/Makefile, made by .ci/embed-templates.
// swift-format-ignore-file
extension EmbeddedText {
    static let cMakefile = #"""
# libCBackend.so, a LocalData plugin in C: needs a C compiler and localdata/plugin.h, nothing else.
CC ?= cc
CFLAGS ?= -O2 -g
LD_HOST ?= ld-host
INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include

FLAGS = -std=c11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -pthread -I $(INCLUDE)

.PHONY: all test clean

all: libCBackend.so

libCBackend.so: cbackend.c $(INCLUDE)/localdata/plugin.h
	$(CC) $(FLAGS) $(CFLAGS) -shared -o $@ cbackend.c

test-cbackend: test.c cbackend.c $(INCLUDE)/localdata/plugin.h
	$(CC) $(FLAGS) $(CFLAGS) -o $@ test.c cbackend.c

# The plugin's own test, then every promise of a store.
test: libCBackend.so test-cbackend
	./test-cbackend
	$(LD_HOST) plugins test ./libCBackend.so

clean:
	rm -f libCBackend.so test-cbackend

"""#
}
