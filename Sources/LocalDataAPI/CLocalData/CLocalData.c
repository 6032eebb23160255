/* All is in the header. A target without a file to compile gives no object, which some build systems require. */
#include "localdata/plugin.h"
