import { startApiInstance } from '../../cluster/api-instance.ts';
import type { SimulatedProgram } from '../../process.ts';
import { klog } from '../klog.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { between, program, untilStopped } from '../running.ts';
import { apiServerSettings } from './settings.ts';
import { openStorage } from './storage.ts';

/** kube-apiserver: serves the data below its prefix in etcd with the mounted certificates. */
export function apiServerProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const settings = apiServerSettings(process);
    const { cluster: served } = settings;
    klog(process, 'I', 'server.go:147', `Version: ${served.kubernetesVersion}`);
    await process.pass(between(process, 200, 500));
    const cluster = await openStorage(kubernetes, process, settings);
    if (!cluster) return 1;
    const instance = await startApiInstance(cluster, served, settings.serving);
    closing.add(() => instance.stop());
    process.signal.throwIfAborted();
    closing.add(process.listen(settings.port, instance.service));
    klog(process, 'I', 'secure_serving.go:211', `Serving securely on [::]:${settings.port}`);
    await untilStopped(process);
    klog(process, 'I', 'genericapiserver.go:551', '"[graceful-termination] shutdown event" name="ShutdownInitiated"');
    return 0;
  });
}
