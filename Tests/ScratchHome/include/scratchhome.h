/* The home of the tests.
 *
 * A program that links this runs in a scratch home from before its first line on: HOME names a new folder, and nothing
 * of the environment leads to the configuration, the data or the keychain of the person who started it. So `swift test`
 * is as safe as the gate. The program ends at once if it cannot have such a home. The folder is removed at the end.
 *
 * A program that one of these starts with its own environment stays in the same home. */
#ifndef LOCALDATA_SCRATCH_HOME_H
#define LOCALDATA_SCRATCH_HOME_H

/* The variable that names the scratch folder, which holds the home as `home`. Others may enter the folder. */
#define LD_SCRATCH_VARIABLE "LOCALDATA_TEST_SCRATCH"

/* The scratch folder. */
const char *ld_scratch_folder(void);

#endif
