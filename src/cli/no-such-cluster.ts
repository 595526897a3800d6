import { CapstanError } from '../machinery/index.ts';

/** The cluster a verb is about is not there. */
export function noSuchCluster(name: string, namespace: string): CapstanError {
  return new CapstanError('CAP_CLUSTER_NOT_FOUND', `there is no cluster "${name}" in the namespace "${namespace}"`, {
    hint: '`capstan get clusters -A` lists them all; --namespace chooses another namespace',
  });
}

/** How to look at a cluster, written so that it can be copied. */
export function describeCommand(name: string, namespace: string): string {
  return `\`capstan describe cluster ${name} -n ${namespace}\``;
}
