/** rke2 ends with this; systemd starts it again after a while. */
export class Rke2Refusal extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'Rke2Refusal';
  }
}
