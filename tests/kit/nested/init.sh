#!/bin/busybox sh
# PID 1 of the emulated machine. Takes the host's own root, read-only, as the lower layer of its root, and runs the one
# script that the kernel command line names. ttyS0 is the console and carries the exit code; ttyS1 is the script's output.
export PATH=/bin
for applet in $(/bin/busybox --list); do
	[ -e "/bin/$applet" ] || /bin/busybox ln -s busybox "/bin/$applet"
done
mkdir -p /dev /proc /sys /host /layers /merged
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
end() {
	echo "legwork-nested-exit $1" >/dev/ttyS0
	sync
	reboot -f
}
must() {
	"$@" && return
	echo "nested machine: failed: $*" >/dev/ttyS0
	end 125
}
# The names sort in the order in which they depend on each other.
for module in /modules/*.ko; do
	must insmod "$module"
done
must mount -t 9p -o trans=virtio,version=9p2000.L,ro,cache=loose,msize=262144 hostroot /host
must mount -t tmpfs -o size=75% layers /layers
mkdir /layers/upper /layers/work
must mount -t overlay -o lowerdir=/host,upperdir=/layers/upper,workdir=/layers/work merged /merged
must mount -t devtmpfs dev /merged/dev
mkdir -p /merged/dev/pts /merged/dev/shm
must mount -t devpts pts /merged/dev/pts
must mount -t tmpfs shm /merged/dev/shm
must mount -t tmpfs run /merged/run
must mount -t proc proc /merged/proc
must mount -t sysfs sys /merged/sys
mount -t cgroup2 cgroup /merged/sys/fs/cgroup
ip link set lo up
stty -F /dev/ttyS1 raw -echo
script=$(sed -n 's/.*legwork\.script=\([^ ]*\).*/\1/p' /proc/cmdline)
env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb LANG=C.UTF-8 \
	chroot /merged /bin/sh "$script" </dev/null >/dev/ttyS1 2>&1
end $?
