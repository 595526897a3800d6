import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Image } from './images.ts';

export function mustOwn({ caller }: RequestContext, image: Readonly<Image>, action: string): void {
  if (image.owner !== caller.projectId && !caller.isAdmin) {
    const own = action === 'modify_image' || action === 'delete_image';
    throw new Refusal(403, own ? 'You do not own this image' : `You are not authorized to complete ${action} action.`);
  }
}
