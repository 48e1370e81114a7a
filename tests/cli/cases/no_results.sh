acceleval report
