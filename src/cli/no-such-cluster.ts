import { CapstanError } from '../machinery/index.ts';

export function noSuchCluster(names: string | readonly string[], namespace: string): CapstanError {
  const all = [names].flat().map((name) => `"${name}"`);
  return new CapstanError(
    'CAP_CLUSTER_NOT_FOUND',
    `there is no cluster ${all.join(', ')} in the namespace "${namespace}"`,
    {
      hint: '`capstan get clusters -A` lists them all; --namespace chooses another namespace',
    },
  );
}

export function describeCommand(name: string, namespace: string): string {
  return `\`capstan describe cluster ${name} -n ${namespace}\``;
}
