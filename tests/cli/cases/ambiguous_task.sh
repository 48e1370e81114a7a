acceleval show hpcg
