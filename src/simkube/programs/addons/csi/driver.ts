import type { ProcessFiles } from '../../../process.ts';

/** CSI plugin interface for sidecars: the controller service without the wire protocol. */
export interface CsiDriver {
  readonly name: string;
  createVolume(request: CreateVolumeRequest): Promise<CreatedVolume>;
  /** succeeds if it is already gone */
  deleteVolume(handle: string): Promise<void>;
  /** attaches to a server; returns the device */
  publish(handle: string, nodeId: string): Promise<string>;
  unpublish(handle: string, nodeId: string): Promise<void>;
  /** returns the new size in bytes */
  expand(handle: string, bytes: number): Promise<number>;
}

export interface CreateVolumeRequest {
  /** the same for the same claim, so that a repeated request finds the volume of an earlier one */
  readonly name: string;
  readonly bytes: number;
  readonly parameters: Readonly<Record<string, string>>;
  /** metadata about the claim to store on the volume */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CreatedVolume {
  readonly handle: string;
  readonly bytes: number;
  readonly zone: string | undefined;
}

/**
 * Drivers with an open socket, by the content of the socket file. Containers find each other through the volume that
 * contains the file.
 */
export class CsiSockets {
  readonly #open = new Map<string, CsiDriver | 'node only'>();

  /** Opens a socket at a path. Returns a function that closes it. */
  listen(files: ProcessFiles, path: string, id: string, driver: CsiDriver | 'node only'): () => void {
    this.#open.set(id, driver);
    files.write(path, id);
    return () => {
      this.#open.delete(id);
      if (files.read(path) === id) files.remove(path);
    };
  }

  /** Returns undefined if nobody listens. */
  at(files: ProcessFiles, path: string): CsiDriver | 'node only' | undefined {
    return this.#open.get(files.read(path) ?? '');
  }
}

export const cinderDriver = 'cinder.csi.openstack.org';
export const zoneTopology = 'topology.cinder.csi.openstack.org/zone';

/** Parses a socket address to a file path: unix://csi/csi.sock, unix:///csi/csi.sock or a path. */
export function socketPath(address: string): string {
  return `/${address.replace(/^unix:/, '').replace(/^\/+/, '')}`;
}
