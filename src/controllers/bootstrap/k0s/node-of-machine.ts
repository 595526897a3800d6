import { isIP } from 'node:net';
import type { Machine, Node } from '../../../api/index.ts';
import { machineNameLabel } from './commands.ts';

/** Finds the Node of a machine without a provider ID: by name, by label, by a shared address. */
export function nodeOfMachine(machine: Machine, nodes: readonly Node[]): Node | undefined {
  const name = machine.metadata.name ?? '';
  return (
    nodes.find((node) => node.metadata.name === name) ??
    nodes.find((node) => node.metadata.labels?.[machineNameLabel] === name) ??
    byAddress(machine, nodes)
  );
}

function byAddress({ status }: Machine, nodes: readonly Node[]): Node | undefined {
  const own = new Set(
    (status?.addresses ?? [])
      .map(({ address }) => address)
      .filter((address) => isIP(address) > 0 && !isLoopback(address)),
  );
  if (own.size === 0) return undefined;
  return nodes.find((node) => node.status?.addresses?.some(({ address }) => own.has(address)));
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';
