import type { ProcessFiles } from '../../../process.ts';

/** What a CSI plugin does for its side cars: the calls of the controller half of the interface, without the wire. */
export interface CsiDriver {
  readonly name: string;
  createVolume(request: CreateVolumeRequest): Promise<CreatedVolume>;
  /** succeeds when it is gone already */
  deleteVolume(handle: string): Promise<void>;
  /** attaches to a server; answers the device */
  publish(handle: string, nodeId: string): Promise<string>;
  unpublish(handle: string, nodeId: string): Promise<void>;
  /** answers the new size in bytes */
  expand(handle: string, bytes: number): Promise<number>;
}

export interface CreateVolumeRequest {
  /** the same for the same claim, so that a repeated request finds what an earlier one made */
  readonly name: string;
  readonly bytes: number;
  readonly parameters: Readonly<Record<string, string>>;
  /** what is written on the volume about its claim */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface CreatedVolume {
  readonly handle: string;
  readonly bytes: number;
  readonly zone: string | undefined;
}

/** Drivers whose socket is open, by what the socket's file holds: the volume it lies in leads containers to each other. */
export class CsiSockets {
  readonly #open = new Map<string, CsiDriver | 'node only'>();

  /** Opens a socket at a path; answers how to close it. */
  listen(files: ProcessFiles, path: string, id: string, driver: CsiDriver | 'node only'): () => void {
    this.#open.set(id, driver);
    files.write(path, id);
    return () => {
      this.#open.delete(id);
      if (files.read(path) === id) files.remove(path);
    };
  }

  /** undefined: nobody listens there */
  at(files: ProcessFiles, path: string): CsiDriver | 'node only' | undefined {
    return this.#open.get(files.read(path) ?? '');
  }
}

export const cinderDriver = 'cinder.csi.openstack.org';
export const zoneTopology = 'topology.cinder.csi.openstack.org/zone';

/** A file name of a socket that was written as an address: unix://csi/csi.sock, unix:///csi/csi.sock or a path. */
export function socketPath(address: string): string {
  return `/${address.replace(/^unix:/, '').replace(/^\/+/, '')}`;
}
