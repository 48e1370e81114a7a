acceleval bank | tail -3; acceleval bank renew | tail -1; acceleval bank what
