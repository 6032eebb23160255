#!/bin/sh
# What a person does in a new home, $HOME: each line says an operation, whether it was done or refused, and the reason.
# $MASK is the umask, and $PRODUCTS has the plugins.
umask "$MASK"
note() {
    name=$1
    shift
    if text=$(eval "$*" 2>&1); then state=done; else state=refused; fi
    printf '%s\t%s\t%s\n' "$name" "$state" "$(printf %s "$text" | tr '\n\t' '  ')"
}
long=ÄRGERLICHABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFGHIJKLMNOPQRSTUVWXYZ
note init ld-host init
for place in userDefaults fileSystem encryptedFileSystem keychain:app; do
    for name in note NOTE "$long"; do
        note "set $place/$name" "printf 's3cret $name' | ld-host set '$place/$name' --stdin"
    done
    for name in note NOTE "$long"; do
        note "get $place/$name" "ld-host get '$place/$name'"
    done
done
note batch 'printf "%s\n" "{\"set\": \"userDefaults/a\", \"value\": \"1\"}" "{\"set\": \"fileSystem/a\", \"value\": \"1\"}" |
    ld-host batch'
note 'get batch' 'printf %s "$(ld-host get userDefaults/a)$(ld-host get fileSystem/a)"'
note backup 'printf word | ld-host backup "$HOME/all.backup" --passphrase-fd 0'
note restore 'ld-host rm fileSystem/note && printf word | ld-host restore "$HOME/all.backup" --passphrase-fd 0 &&
    ld-host get fileSystem/note'
note copy 'ld-host store copy file plain --domain fileSystem -c stores.plain.component=sqlite \
    -c stores.plain.options.path="$HOME/plain/values.sqlite"'
# Where no mode can be changed, mkdir fails after it has made the folder.
folder() {
    error=$(mkdir -m 700 "$1" 2>&1) || test -d "$1" || { printf %s "$error"; return 1; }
}
note sync 'folder "$HOME/shared" && ld-host -c sync.transport=folder -c sync.options.folder="$HOME/shared" \
    sync init --name laptop'
note plugin 'folder "$HOME/own" && cp "$PRODUCTS/libSQLiteStore.so" "$HOME/own/libOwn.so" &&
    ld-host plugins inspect "$HOME/own/libOwn.so"'
note page 'ld-host audit --html "$HOME/page.html"'
note ls ld-host ls
