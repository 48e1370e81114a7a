acceleval check nowhere.cu
