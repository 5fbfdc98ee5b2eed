#!/usr/bin/env bash
# A stranger's first minutes in a bare Debian: a new user, nothing installed but git, make and sudo, and Swift at hand; from the clone
# to the first answer, then the commands of a first day. As root; Debian's packages and PyPI are reached as this machine reaches them.
. "$(dirname "$0")/../stages.sh"
[ "$(id -u)" = 0 ] || { echo "bare: this stage makes a system of its own, so it needs root" >&2; exit 1; }
command -v mmdebstrap >/dev/null || apt-get install -y -qq mmdebstrap >/dev/null
toolchain="$(dirname "$(dirname "$(dirname "$(realpath "$(command -v swift)")")")")"

bare="$(mktemp -d)"
finish() {
    local place
    for place in "$bare"/{proc,dev,opt/swift}; do
        umount -l "$place" 2>/dev/null || true
        # What is mounted there belongs to this machine.
        if mountpoint -q "$place"; then echo "bare: $place stays mounted; nothing is removed" >&2; return; fi
    done
    rm -rf --one-file-system "$bare"
}
trap finish EXIT
chmod 755 "$bare"
mmdebstrap --quiet --variant=minbase --include=ca-certificates,git,make,sudo bookworm "$bare" 2>/dev/null
for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -f "$file" ] || cp "$file" "$bare$file"
done
mkdir -p "$bare/opt/swift" "$bare/srv"
mount --bind "$toolchain" "$bare/opt/swift"
mount -o remount,bind,ro "$bare/opt/swift"
mount -t proc proc "$bare/proc"
mount --rbind --make-rslave /dev "$bare/dev"
git clone -q --bare . "$bare/srv/hearth.git"
chmod -R a+rX "$bare/srv"
cp scripts/bare/first_day.sh "$bare/srv/"
chroot "$bare" git config --system --add safe.directory /srv/hearth.git
chroot "$bare" useradd --create-home --shell /bin/bash anna
echo 'anna ALL=(ALL) NOPASSWD: ALL' > "$bare/etc/sudoers.d/anna"
before="$(chroot "$bare" dpkg-query -W | wc -l)"
disk() { du -sm --one-file-system "$bare" | cut -f1; }
empty="$(disk)"
env -i PATH="/opt/swift/usr/bin:/usr/local/bin:/usr/bin:/bin" HOME=/home/anna USER=anna TERM=dumb LANG=C.UTF-8 \
    ${SSL_CERT_FILE:+SSL_CERT_FILE="$SSL_CERT_FILE"} ${PIP_CERT:+PIP_CERT="$PIP_CERT"} \
    "$(command -v chroot)" --userspec=anna:anna "$bare" bash /srv/first_day.sh
echo "Debian packages added: $(($(chroot "$bare" dpkg-query -W | wc -l) - before)); disk in all: $(($(disk) - empty)) MB"
