// Messages between the main process and its workers.

/** Configuration of a worker, sent first. */
export interface WorkerSettings {
  name: string;
  /** identity among sharded workers; the successor of a worker reuses it with its shards */
  identity: string;
  /** management API of the main process */
  server: string;
  certificateAuthority: string;
  /** certificate of the controllers' account */
  clientCertificate: { certificate: string; key: string };
  /** the worker exits before its certificate expires and is restarted with a new one */
  leaveAfterMs: number;
  controllers: string;
  watchFilter?: string;
  namespace?: string;
  backupDirectory: string;
  dataDirectory: string;
  stacksSource?: string[];
  peers: {
    denyPeers?: string;
    allowPeers?: string;
    listenHost: string;
    simulatesCloud: boolean;
    simulatesPods: boolean;
  };
}

export type ToWorker = { type: 'begin'; settings: WorkerSettings } | { type: 'stop' };
export type FromWorker = { type: 'ready' };
