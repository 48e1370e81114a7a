//= present: a captured graph
void f(cudaStream_t s, float *a)
{
    cudaGraph_t g;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    step<<<1, 256, 0, s>>>(a);
    cudaStreamEndCapture(s, &g);
}

//= present: replayed
void f(cudaGraphExec_t e, cudaStream_t s) { for (int k = 0; k < 9; k++) cudaGraphLaunch(e, s); }

//= present: dependent launch
__global__ void f(float *a) { cudaGridDependencySynchronize(); a[threadIdx.x] = 1; }

//= absent: many launches
void f(cudaStream_t s, float *a) { for (int k = 0; k < 9; k++) step<<<1, 256, 0, s>>>(a); }

//= absent: graphs of vertices
struct Graph { int n; const int *start; };
__global__ void f(Graph graph, int *a) { a[threadIdx.x] = graph.start[threadIdx.x]; }

//= absent: an event
void f(cudaStream_t s) { cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, s); cudaStreamWaitEvent(s, e, 0); }
