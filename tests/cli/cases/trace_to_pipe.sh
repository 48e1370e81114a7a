# What is no regular file is written to; it used to be replaced by one, /dev/null too where root asked for it.
mkfifo pipe
timeout 60 cat pipe >trace &
acceleval profile "$PROGRAMS/right.c" --task black_scholes --trace pipe >text 2>errors
echo "status $?"
[ -p pipe ] && echo "still a pipe"
[ -p pipe ] || kill $!
wait
head -c 1 trace
echo
