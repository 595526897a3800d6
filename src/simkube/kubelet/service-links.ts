import type { Service } from '../../api/index.ts';

/** Environment variables for the Services of a namespace, as kubelets set them in every container. */
export function serviceVariables(services: readonly Service[]): Record<string, string> {
  const variables: Record<string, string> = {};
  for (const { metadata, spec } of services) {
    const { clusterIP = '', ports = [] } = spec;
    const [first] = ports;
    if (clusterIP === '' || clusterIP === 'None' || !first) continue;
    const prefix = variableName(metadata.name ?? '');
    variables[`${prefix}_SERVICE_HOST`] = clusterIP;
    variables[`${prefix}_SERVICE_PORT`] = String(first.port);
    variables[`${prefix}_PORT`] = address(clusterIP, first);
    for (const port of ports) {
      if (port.name) variables[`${prefix}_SERVICE_PORT_${variableName(port.name)}`] = String(port.port);
      const protocol = port.protocol ?? 'TCP';
      const base = `${prefix}_PORT_${port.port}_${protocol}`;
      variables[base] = address(clusterIP, port);
      variables[`${base}_PROTO`] = protocol.toLowerCase();
      variables[`${base}_PORT`] = String(port.port);
      variables[`${base}_ADDR`] = clusterIP;
    }
  }
  return variables;
}

function address(clusterIP: string, { protocol = 'TCP', port }: { protocol?: string; port: number }): string {
  return `${protocol.toLowerCase()}://${clusterIP}:${port}`;
}

function variableName(name: string): string {
  return name.toUpperCase().replaceAll('-', '_');
}
