# The steps of a user after apt install; the test compares standard output with expected.txt.
set -eu
ld-host set userDefaults/theme dark
ld-host store copy sqlite file --domain userDefaults --move
ld-host config set domains.userDefaults file
ld-host get userDefaults/theme && echo

printf token123 | ld-host set keychain:com.myapp/user_token --stdin
ld-host get keychain:com.myapp/user_token && echo
grep -rl token123 "$HOME/.local/share" || echo "encrypted"

cat > "$HOME/.config/localdata/migrations.json" <<'END'
[{"id": "colours", "rename": {"from": "userDefaults/theme", "to": "userDefaults/colours"}}]
END
ld-host config set migrations.packs.ours '{"component": "standard", "options": {"file": "${config}/migrations.json"}}'
ld-host migrate run >&2
ld-host get userDefaults/colours && echo

git config --global credential.helper localdata
printf 'protocol=https\nhost=example.com\nusername=ann\npassword=s3cret\n\n' | git credential approve
printf 'protocol=https\nhost=example.com\n\n' | git credential fill
echo '{"ServerURL":"https://example.com","Username":"ann","Secret":"s3cret"}' | docker-credential-localdata store
docker-credential-localdata list

MANWIDTH=80 man ld-host | head -n 1
man -w ld-host-migrate git-credential-localdata >&2
bash -c '. /usr/share/bash-completion/completions/ld-host
COMP_LINE="ld-host get userDefaults/co" COMP_POINT=27
_ld_host
echo "${COMPREPLY[@]}"'

ls /usr/share/doc/localdata/StandardMigrations.md /usr/share/doc/localdata/Pipe.md
ld-host plugins test /usr/lib/localdata/plugins/libSQLiteStore.so >&2
ld-host doctor >&2 && echo "healthy"
