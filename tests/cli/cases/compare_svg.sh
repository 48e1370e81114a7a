# What shows no leaderboard makes no picture; the help says so before one tries.
acceleval compare --help | tr -s ' \n' ' ' | grep -o 'format of the output[a-z, ]*'
acceleval history --help | tr -s ' \n' ' ' | grep -o 'format of the output[a-z, ]*'
acceleval compare a b --format svg
