import type { Policy } from '../core/caller.ts';
import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import { type Operation, resourceRoutes } from '../core/resource.ts';
import type { Route } from '../core/service.ts';
import { zulu } from '../core/time-formats.ts';
import type { Image, Images } from './images.ts';
import { mustOwn } from './ownership.ts';

const statuses: readonly unknown[] = ['pending', 'accepted', 'rejected'];

/** A project that an image is shared with. */
interface Membership {
  readonly image: Readonly<Image>;
  readonly member: string;
}

/** Routes of image members. Each member decides whether the image appears in its list. */
export function memberRoutes(images: Images): Route[] {
  const policies: Readonly<Record<Operation, Policy>> = {
    list: { name: 'get_members', level: 'reader' },
    create: { name: 'add_member', level: 'member' },
    show: { name: 'get_member', level: 'reader' },
    update: { name: 'modify_member', level: 'member' },
    delete: { name: 'delete_member', level: 'member' },
  };
  const render = ({ image, member }: Membership): object => ({
    member_id: member,
    image_id: image.id,
    status: image.members[member],
    created_at: zulu(image.createdAt),
    updated_at: zulu(image.updatedAt),
    schema: '/v2/schemas/member',
  });
  /** The owner sees all members. A member sees only itself. */
  const visible = ({ caller }: RequestContext, image: Readonly<Image>): string[] =>
    Object.keys(image.members).filter(
      (member) => caller.isAdmin || image.owner === caller.projectId || member === caller.projectId,
    );
  const find = (context: RequestContext): Membership => {
    const image = images.find(context);
    const member = context.param('member');
    if (!visible(context, image).includes(member)) throw new Refusal(404, 'The resource could not be found.');
    return { image, member };
  };
  const set = ({ id, members }: Readonly<Image>, member: string, status: Image['members'][string]): Membership => ({
    image: images.change(id, { members: { ...members, [member]: status } }),
    member,
  });
  const mustBeShared = ({ visibility }: Readonly<Image>): void => {
    if (visibility !== 'shared') throw new Refusal(403, 'Only shared images have members.');
  };
  return resourceRoutes<Membership>({
    path: '/v2/images/{id}/members',
    parameter: 'member',
    statuses: { create: 200 },
    policy: (operation) => policies[operation],
    find,
    view: render,
    list(context) {
      const image = images.find(context);
      mustBeShared(image);
      const members = visible(context, image).map((member) => render({ image, member }));
      return { status: 200, body: { members, schema: '/v2/schemas/members' } };
    },
    create(context) {
      const image = images.find(context);
      mustOwn(context, image, 'add_member');
      mustBeShared(image);
      const { member } = (context.json ?? {}) as { member?: unknown };
      if (typeof member !== 'string' || member === '') throw new Refusal(400, "Member can't be empty");
      if (Object.hasOwn(image.members, member)) {
        throw new Refusal(409, `Image member ${member} is already associated with image ${image.id}.`);
      }
      return set(image, member, 'pending');
    },
    update(context) {
      const { image, member } = find(context);
      if (member !== context.caller.projectId && !context.caller.isAdmin) {
        throw new Refusal(403, "You are not permitted to modify 'status' on this image member.");
      }
      const { status } = (context.json ?? {}) as { status?: unknown };
      if (!statuses.includes(status)) throw new Refusal(400, `Invalid status: ${String(status)}`);
      return set(image, member, status as Image['members'][string]);
    },
    delete({ image, member }, context) {
      mustOwn(context, image, 'delete_member');
      const { [member]: _removed, ...members } = image.members;
      images.change(image.id, { members });
    },
  });
}
