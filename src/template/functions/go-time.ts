import { type GoMethod, GoObject, Int, type Value } from '../values/index.ts';
import { formatLayout, type Moment } from './go-layout.ts';

/** Go's zero time. */
export const zeroMs: number = Date.parse('0001-01-01T00:00:00Z');

/** Go's time.Time. The local zone is UTC. */
export class GoTime extends GoObject {
  readonly typeName = 'time.Time';
  readonly moment: Moment;

  constructor(moment: Moment) {
    super();
    this.moment = moment;
  }

  toText(): string {
    return formatLayout('2006-01-02 15:04:05.999999999 -0700 MST', this.moment);
  }

  override identity(): string {
    return `${this.moment.ms} ${this.moment.offset}`;
  }

  override toJson(): Value {
    return formatLayout('2006-01-02T15:04:05.999999999Z07:00', this.moment);
  }

  override method(name: string): GoMethod | undefined {
    const local = new Date(this.moment.ms + this.moment.offset * 60_000);
    const value = (result: Value): GoMethod => ({ parameters: [], call: () => result });
    const count = (number: number, type = 'int'): GoMethod => value(new Int(BigInt(number), type));
    switch (name) {
      case 'Year':
        return count(local.getUTCFullYear());
      case 'Day':
        return count(local.getUTCDate());
      case 'Hour':
        return count(local.getUTCHours());
      case 'Minute':
        return count(local.getUTCMinutes());
      case 'Second':
        return count(local.getUTCSeconds());
      case 'Month':
        return value(formatLayout('January', this.moment));
      case 'Weekday':
        return value(formatLayout('Monday', this.moment));
      case 'Unix':
        return count(Math.floor(this.moment.ms / 1_000), 'int64');
      case 'UnixMilli':
        return count(Math.floor(this.moment.ms), 'int64');
      case 'UTC':
      case 'Local':
        return value(new GoTime({ ms: this.moment.ms, offset: 0, zone: 'UTC' }));
      case 'IsZero':
        return value(this.moment.ms === zeroMs);
      case 'String':
        return value(this.toText());
      case 'Format':
        return {
          parameters: ['string'],
          call: ([layout]) => formatLayout(typeof layout === 'string' ? layout : '', this.moment),
        };
    }
    return undefined;
  }
}
