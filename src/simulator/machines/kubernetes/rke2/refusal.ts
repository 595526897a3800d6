/** An error that makes rke2 exit. systemd restarts it later. */
export class Rke2Refusal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Rke2Refusal';
  }
}
