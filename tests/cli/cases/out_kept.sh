# What --out names has the old contents until all of the new is there, and keeps its permissions.
mkdir alice there
{ cat "$PROGRAMS/right.c"; yes '// a program that makes no small file' | head -5000; } >alice/black_scholes.c
acceleval eval alice --quick --size small >printed 2>errors
echo old >there/file
chmod 640 there/file
ln -s there/file link
for command in export 'report --format html'; do
    # Files must stay small and the signal is ignored: as on a full disk. What the store needs is below the limit.
    (trap '' XFSZ; ulimit -f 100; acceleval $command --out link) 2>errors
    echo "exit $?: $(head -c 3 link), $(grep -c 'cannot write' errors) sentence"
done
acceleval export --run 9 --out link
cat link
acceleval report --format md --out link
echo "$(head -c 1 there/file) $(stat -c %a there/file) $(ls there) $(readlink link)"
ln -s there/later soon
acceleval report --format md --out soon
echo "$(head -c 1 there/later) $(readlink soon)"
# So have the files that other options name.
for command in 'cache export' "profile $PROGRAMS/right.c --task black_scholes --trace"; do
    acceleval $command link >printed 2>errors
    echo "$(head -c 1 there/file) $(stat -c %a there/file) $(readlink link)"
done
umask 027
acceleval report --format csv --out new
stat -c %a new
acceleval report --format csv --out /dev/full
acceleval report --format csv --out nowhere/file
acceleval report --format csv --out there
