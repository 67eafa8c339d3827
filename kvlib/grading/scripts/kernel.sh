# kernel.sh CONNECTION BYTES SETPRIV... -- COMMAND...: run COMMAND and the path of the connection file as a kernel that
# sees neither the notebook nor any process but its own, and can write BYTES in all, into folders that end with it.
# To be started as root of new mount and process namespaces inside those of sandbox.sh.
set -eu
connection=$1 bytes=$2
shift 2
privileges= owner=0
while [ "$1" != -- ]; do
  privileges="$privileges $1"
  case $1 in --reuid=*) owner=${1#*=} ;; esac
  shift
done
shift

mount --rbind / /jail
cd /jail
mount -t proc -o ro,nosuid,nodev,noexec proc proc
mount -t tmpfs -o size=4k,ro tmpfs grading
mount -t tmpfs -o size="$bytes",mode=700,uid="$owner",gid="$owner",nosuid,nodev tmpfs scratch
mkdir scratch/tmp scratch/shm
cp "$connection" scratch/connection.json
chown -R "$owner:$owner" scratch/tmp scratch/shm scratch/connection.json
mount -o remount,bind,ro .

# A process in a chroot cannot make a user namespace, and so cannot get at the mounts again.
chroot . setpriv $privileges --no-new-privs --inh-caps=-all --bounding-set=-all "$@" /scratch/connection.json \
  </dev/null >/dev/null 2>&1
