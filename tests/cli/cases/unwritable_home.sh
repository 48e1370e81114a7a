# Nothing can be written at home: doctor still shows its table, with a lack and its mend for each place.
export HOME=/dev/null
unset XDG_DATA_HOME ACCELEVAL_CACHE
acceleval doctor 2>errors >table
status=$?
grep -c "^ok    host " table
grep "^lack  \(cache\|bank\|results\)" table
acceleval check "$PROGRAMS/right.c" --task black_scholes
exit $status
