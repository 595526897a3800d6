import { CapstanError } from '../machinery/index.ts';

/** The cluster a verb is about is not there. */
export function noSuchCluster(name: string, namespace: string): CapstanError {
  return new CapstanError('CAP_CLUSTER_NOT_FOUND', `there is no cluster "${name}" in the namespace "${namespace}"`, {
    hint: '`capstan get clusters -A` lists them all; --namespace chooses another namespace',
  });
}
