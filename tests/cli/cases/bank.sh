acceleval bank show; test -e data || echo "and none is drawn"
acceleval bank | tail -3; acceleval bank renew | tail -1; acceleval bank what
chmod 644 data/acceleval/bank.secret; acceleval bank; acceleval bank renew | tail -1; acceleval bank | tail -1
