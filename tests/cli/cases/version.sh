acceleval --version
