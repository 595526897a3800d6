import { errorMessage } from '../../../../machinery/index.ts';
import { httpService } from '../../../http-service.ts';
import type { SimulatedProgram } from '../../../process.ts';
import { ProgramFailure } from '../../failure.ts';
import { cobraTable, flagValue, isSwitchedOn, names, parseFlags } from '../../flags.ts';
import { versionInTag } from '../../image.ts';
import { klog } from '../../klog.ts';
import type { SimulatedKubernetes } from '../../kubernetes.ts';
import { between, program, untilStopped } from '../../running.ts';
import { openConfiguredCloud } from '../cloud-access.ts';
import { cinderVolumes } from './cinder.ts';
import { type CsiDriver, cinderDriver, socketPath } from './driver.ts';

const pluginFlags = cobraTable(
  names('endpoint cloud-config cloud-name cluster http-endpoint additional-topology v vmodule nodeid feature-gates'),
  names('provide-controller-service provide-node-service pvc-annotations with-topology logtostderr'),
);

/** cinder-csi-plugin: the driver of the controller Deployment and the node DaemonSet. */
export function cinderPluginProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { argv, files } = process;
    const { flags } = parseFlags(argv[0]?.startsWith('-') ? argv : argv.slice(1), pluginFlags);
    const version = versionInTag(process.image) ?? '0.0.0';
    klog(process, 'I', 'driver.go:83', `Driver: ${cinderDriver}`);
    klog(process, 'I', 'driver.go:84', `Driver version: 2.0.0@v${version}`);
    const confFile = flagValue(flags, 'cloud-config') ?? '';
    if (files.read(confFile) === undefined) {
      klog(
        process,
        'F',
        'openstack.go:153',
        `Failed to open OpenStack configuration file: open ${confFile}: no such file or directory`,
      );
      throw new ProgramFailure('', 255);
    }
    const endpoint = socketPath(flagValue(flags, 'endpoint') ?? '');
    const isController = isSwitchedOn(flags, 'provide-controller-service', { otherwise: true });
    const id = process.random.uuid();
    if (isController) {
      try {
        const { cloud } = await openConfiguredCloud(kubernetes, process, confFile);
        const volumes = cinderVolumes(process, cloud, flagValue(flags, 'cluster') ?? '');
        const driver: CsiDriver = {
          ...volumes,
          async deleteVolume(handle) {
            await volumes.deleteVolume(handle);
            kubernetes.forgetVolume(handle);
          },
        };
        closing.add(kubernetes.csi.listen(files, endpoint, id, driver));
      } catch (error) {
        if (process.signal.aborted) throw error;
        // The real program also exits with success here.
        klog(process, 'W', 'main.go:142', `Failed to GetOpenStackProvider: ${errorMessage(error)}`);
        return 0;
      }
    } else closing.add(kubernetes.csi.listen(files, endpoint, id, 'node only'));
    klog(process, 'I', 'server.go:111', `Listening for connections on address: ${endpoint}`);
    await untilStopped(process);
    return 0;
  });
}

const sidecarFlags = cobraTable(
  names('csi-address kubelet-registration-path health-port http-endpoint v probe-timeout timeout'),
  names('leader-election'),
);

/** node-driver-registrar: announces the driver by a file in the kubelet's directory. */
export function nodeRegistrarProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { files } = process;
    const { flags } = parseFlags(process.argv.slice(1), sidecarFlags);
    const address = socketPath(flagValue(flags, 'csi-address') ?? '/csi/csi.sock');
    klog(process, 'I', 'main.go:150', `Version: v${versionInTag(process.image) ?? '0.0.0'}`);
    for (let isSaid = false; !kubernetes.csi.at(files, address); isSaid = true) {
      if (!isSaid) klog(process, 'W', 'connection.go:234', `Still connecting to unix://${address}`);
      await process.pass(between(process, 500, 1_000));
    }
    const file = `/registration/${cinderDriver}-reg.sock`;
    files.write(
      file,
      JSON.stringify({ driver: cinderDriver, endpoint: flagValue(flags, 'kubelet-registration-path') }),
    );
    closing.add(() => files.remove(file));
    klog(process, 'I', 'node_register.go:55', `Starting Registration Server at: ${file}`);
    await untilStopped(process);
    return 0;
  });
}

/** livenessprobe: serves HTTP health checks for the plugin. */
export function livenessProbeProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const { flags } = parseFlags(process.argv.slice(1), sidecarFlags);
    const address = socketPath(flagValue(flags, 'csi-address') ?? '/csi/csi.sock');
    const answer = (): { status: number; body: string } =>
      kubernetes.csi.at(process.files, address)
        ? { status: 200, body: 'ok' }
        : { status: 500, body: 'failed to establish connection to CSI driver' };
    closing.add(process.listen(Number(flagValue(flags, 'health-port') ?? 9808), httpService(answer)));
    await untilStopped(process);
    return 0;
  });
}
