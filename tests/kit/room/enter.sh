set -eu
PATH=$PATH:/usr/sbin:/sbin
room=$1
shift
# Any directory of the room that is there; only this namespace sees what is put over it.
root=$room/tmp
mount -t tmpfs -o mode=0755 room "$root"
mkdir "$root/proc" "$root/dev" "$root/usr" "$root/etc" "$root/var" "$root/run"
mkdir -m 1777 "$root/tmp"
for link in bin lib lib64 sbin; do
    ln -s "usr/$link" "$root/$link"
done
for part in usr etc var; do
    mount --bind "$room/$part" "$root/$part"
done
for part in proc dev; do
    mount --rbind "/$part" "$root/$part"
done
while [ "$1" != -- ]; do
    shown=${1#unwritable:}
    # What lies in a directory that is shown is there already.
    test -e "$root$shown" || mkdir -p "$root$shown"
    mount --rbind "$shown" "$root$shown"
    if [ "$shown" != "$1" ]; then
        mount -o remount,bind,ro "$root$shown"
    fi
    shift
done
shift
folder=$1
shift
exec chroot "$root" /usr/bin/env -i --chdir="$folder" "$@"
