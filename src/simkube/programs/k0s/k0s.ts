import { k0sVersionOf } from '../../../api/index.ts';
import { errorMessage, must, parseDuration } from '../../../machinery/index.ts';
import { issueCertificate } from '../../../pki/index.ts';
import { renderKubeconfig } from '../../kubeconfigs.ts';
import type { SimulatedProcess, SimulatedProgram } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { type Flags, type FlagTable, flagValue, listValue, names, parseFlags } from '../flags.ts';
import type { SimulatedKubernetes } from '../kubernetes.ts';
import { program } from '../running.ts';
import type { K0sConfig } from './config.ts';
import { runController } from './controller.ts';
import { hostOf } from './pki.ts';
import { controllerBeside, type RunningController } from './running-controllers.ts';
import { createJoinToken, invalidateJoinToken, listJoinTokens } from './token.ts';

const table: FlagTable = {
  valued: new Set(
    names('out role expiry groups config data-dir status-socket cert-validity certificate-expires-after context-name'),
  ),
  switches: new Set(names('all help verbose debug wait')),
  short: { o: 'out', c: 'config', a: 'all' },
  unknown: (name) => new ProgramFailure(`Error: unknown flag: --${name}`),
  missing: (name) => new ProgramFailure(`Error: flag needs an argument: --${name}`),
};

/** k0s in a container: the controller, and commands that users run beside it. */
export function k0sProgram(kubernetes: SimulatedKubernetes): SimulatedProgram {
  return program(async (process, closing) => {
    const version = k0sVersionOf(/:([^/:@]+)(?:@.*)?$/.exec(process.image)?.[1] ?? 'v1.34.0');
    const [verb = '', ...args] = process.argv.slice(1);
    switch (verb) {
      case 'controller':
        return await runController(kubernetes, process, closing, { args, version });
      case 'version':
        process.log(version);
        return 0;
      case 'status':
        return status(kubernetes, process, args);
      case 'kubeconfig':
        return await kubeconfig(kubernetes, process, args);
      case 'token':
        return await token(kubernetes, process, args);
      default:
        throw new ProgramFailure(`Error: unknown command "${verb}" for "k0s"`);
    }
  });
}

function beside(kubernetes: SimulatedKubernetes, process: SimulatedProcess): RunningController {
  const controller = controllerBeside(kubernetes, process);
  if (controller) return controller;
  throw new ProgramFailure(
    'Error: can\'t get "status" via "/run/k0s/status.sock": Get "http://localhost/status": dial unix /run/k0s/status.sock: connect: no such file or directory',
  );
}

function status(kubernetes: SimulatedKubernetes, process: SimulatedProcess, args: readonly string[]): number {
  const { flags } = parseFlags(args, table);
  const { version, cluster } = beside(kubernetes, process);
  if (cluster.healthProblem() !== undefined) {
    throw new ProgramFailure(`Error: kube-apiserver is not healthy: ${cluster.healthProblem()}`);
  }
  if (flagValue(flags, 'out') === 'json') {
    process.log(JSON.stringify({ Version: version, Pid: 1, Role: 'controller', Workloads: false, SingleNode: false }));
    return 0;
  }
  for (const line of [
    `Version: ${version}`,
    'Process ID: 1',
    'Role: controller',
    'Workloads: false',
    'SingleNode: false',
  ]) {
    process.log(line);
  }
  return 0;
}

/** Address at which others reach the API. */
function serverOf({ api }: K0sConfig, { address }: SimulatedProcess): string {
  const external = api.externalAddress;
  if (external === undefined) return `https://${address}:${api.port}`;
  const host = hostOf(external);
  const port = external.slice(host.length).match(/:(\d+)$/)?.[1] ?? String(api.port);
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

async function kubeconfig(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  args: readonly string[],
): Promise<number> {
  const { flags, words } = parseFlags(args, table);
  const [verb, name] = words;
  const { config, pki } = beside(kubernetes, process);
  const isAdmin = verb === 'admin';
  if (!isAdmin && (verb !== 'create' || name === undefined)) {
    throw new ProgramFailure('Error: failed to create a kubeconfig: username is mandatory');
  }
  const user = isAdmin ? 'admin' : must(name, 'name');
  const pair = await issueCertificate({
    authority: pki.authority,
    commonName: isAdmin ? 'kubernetes-admin' : user,
    organizations: isAdmin ? ['system:masters'] : listValue(flags, 'groups'),
    usages: ['client'],
    clock: process.clock,
  });
  const text = renderKubeconfig(
    {
      server: serverOf(config, process),
      certificateAuthority: pki.clientAuthorities,
      user,
      clientCertificate: { certificate: pair.certificate, key: pair.privateKey },
    },
    'local',
  );
  for (const line of text.trimEnd().split('\n')) process.log(line);
  return 0;
}

async function token(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  args: readonly string[],
): Promise<number> {
  const { flags, words } = parseFlags(args, table);
  const { config, pki, cluster } = beside(kubernetes, process);
  const client = cluster.loopback;
  const [verb, ...ids] = words;
  try {
    switch (verb) {
      case 'create': {
        const desired = {
          role: roleOf(flags),
          validityMs: validityOf(flags),
          server: serverOf(config, process),
          certificateAuthority: pki.clientAuthorities,
        };
        const now = process.clock.now();
        process.log(await createJoinToken(client, { random: process.random, now }, desired));
        return 0;
      }
      case 'invalidate':
        for (const id of ids) {
          if (!(await invalidateJoinToken(client, id))) throw new ProgramFailure(`Error: token ${id} not found`);
          process.log(`token ${id} deleted successfully`);
        }
        return 0;
      case 'list':
        process.log('ID\tROLE\tEXPIRES');
        for (const { id, role, expires } of await listJoinTokens(client)) process.log(`${id}\t${role}\t${expires}`);
        return 0;
      default:
        throw new ProgramFailure(`Error: unknown command "${verb ?? ''}" for "k0s token"`);
    }
  } catch (error) {
    if (error instanceof ProgramFailure) throw error;
    throw new ProgramFailure(`Error: ${errorMessage(error)}`);
  }
}

function roleOf(flags: Flags): 'worker' | 'controller' {
  const role = flagValue(flags, 'role') ?? 'worker';
  if (role === 'worker' || role === 'controller') return role;
  throw new ProgramFailure(`Error: unsupported role "${role}", supported roles are "controller" and "worker"`);
}

function validityOf(flags: Flags): number {
  const text = flagValue(flags, 'expiry') ?? '0s';
  if (text === '0') return 0;
  const validityMs = parseDuration(text);
  if (validityMs === undefined) {
    throw new ProgramFailure(`Error: invalid argument "${text}" for "--expiry" flag: time: invalid duration "${text}"`);
  }
  return validityMs;
}
