/* Declarations that provider.c and broken.c share. */
#ifndef PROVIDER_H
#define PROVIDER_H

#include <localdata/plugin.h>

#include <string.h>

#define TEXT(literal) {literal, sizeof(literal) - 1}

/* A correct provider with every algorithm. */
extern const ld_crypto correct_provider;
extern const ld_crypto_signatures correct_signatures;

/* Reports a failure and returns LD_FAILED. */
ld_status refuse(const ld_error_sink *error, ld_error_code code, const char *message);

#endif
