// A copy of Examples/CMigration/Makefile, made by .ci/embed-templates.
// swift-format-ignore-file
extension EmbeddedText {
    static let cMigrationMakefile = #"""
# libCMigration.so, a LocalData plugin in C: needs a C compiler and localdata/plugin.h, nothing else.
CC ?= cc
CFLAGS ?= -O2 -g
LD_HOST ?= ld-host
INCLUDE ?= ../../Sources/LocalDataAPI/CLocalData/include

FLAGS = -std=c11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -pthread -I $(INCLUDE)

.PHONY: all test clean

all: libCMigration.so

libCMigration.so: cmigration.c $(INCLUDE)/localdata/plugin.h
	$(CC) $(FLAGS) $(CFLAGS) -shared -o $@ cmigration.c

test-cmigration: test.c cmigration.c $(INCLUDE)/localdata/plugin.h
	$(CC) $(FLAGS) $(CFLAGS) -o $@ test.c cmigration.c

# The plugin's own test, then every promise of a migration pack.
test: libCMigration.so test-cmigration
	./test-cmigration
	$(LD_HOST) plugins test ./libCMigration.so

clean:
	rm -f libCMigration.so test-cmigration

"""#
}
