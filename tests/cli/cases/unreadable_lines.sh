# Lines that cannot be read to their end are an error, not a run of few lines.
mkdir folder
acceleval eval - < folder
echo "status $?"
# Where no line was a submission there is no run.
acceleval export --out runs.archive
