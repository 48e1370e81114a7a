# An entrant that nothing is known of is an error, not a column of dashes.
acceleval import "$TASKS/../docs/results/h200-small.archive" >imported
acceleval transfer --winner tunde --plain naive --recipe parallel
echo "status $?"
acceleval transfer --winner tuned --plain naive --recipe parallel --control nobody
echo "status $?"
acceleval transfer --winner tuned --plain naive --recipe parallel | grep -c '^bellman_ford'
