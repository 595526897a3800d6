import type { RequestContext } from '../core/http/context.ts';
import { Refusal } from '../core/refusal.ts';
import type { Answer, Route } from '../core/service.ts';
import { zulu } from '../core/time-formats.ts';
import type { Image, Images } from './images.ts';
import { mustOwn } from './ownership.ts';

const statuses: readonly unknown[] = ['pending', 'accepted', 'rejected'];

/** Routes of image members. Each member decides whether the image appears in its list. */
export function memberRoutes(images: Images): Route[] {
  const policy = (name: string): NonNullable<Route['policy']> => ({ name, level: 'member' });
  const render = (image: Readonly<Image>, member: string): object => ({
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
  const find = (context: RequestContext, image: Readonly<Image>): string => {
    const member = context.param('member');
    if (!visible(context, image).includes(member)) throw new Refusal(404, 'The resource could not be found.');
    return member;
  };
  const base = '/v2/images/{id}/members';
  return [
    {
      method: 'GET',
      path: base,
      policy: { name: 'get_members', level: 'reader' },
      handle: (context): Answer => {
        const image = images.find(context);
        if (image.visibility !== 'shared') throw new Refusal(403, 'Only shared images have members.');
        const members = visible(context, image).map((member) => render(image, member));
        return { status: 200, body: { members, schema: '/v2/schemas/members' } };
      },
    },
    {
      method: 'GET',
      path: `${base}/{member}`,
      policy: { name: 'get_member', level: 'reader' },
      handle: (context): Answer => {
        const image = images.find(context);
        return { status: 200, body: render(image, find(context, image)) };
      },
    },
    {
      method: 'POST',
      path: base,
      policy: policy('add_member'),
      handle: (context): Answer => {
        const image = images.find(context);
        mustOwn(context, image, 'add_member');
        if (image.visibility !== 'shared') throw new Refusal(403, 'Only shared images have members.');
        const { member } = (context.json ?? {}) as { member?: unknown };
        if (typeof member !== 'string' || member === '') throw new Refusal(400, "Member can't be empty");
        if (Object.hasOwn(image.members, member)) {
          throw new Refusal(409, `Image member ${member} is already associated with image ${image.id}.`);
        }
        const changed = images.change(image.id, { members: { ...image.members, [member]: 'pending' } });
        return { status: 200, body: render(changed, member) };
      },
    },
    {
      method: 'PUT',
      path: `${base}/{member}`,
      policy: policy('modify_member'),
      handle: (context): Answer => {
        const image = images.find(context);
        const member = find(context, image);
        if (member !== context.caller.projectId && !context.caller.isAdmin) {
          throw new Refusal(403, "You are not permitted to modify 'status' on this image member.");
        }
        const { status } = (context.json ?? {}) as { status?: unknown };
        if (!statuses.includes(status)) {
          throw new Refusal(400, `Invalid status: ${String(status)}`);
        }
        const members = { ...image.members, [member]: status as Image['members'][string] };
        return { status: 200, body: render(images.change(image.id, { members }), member) };
      },
    },
    {
      method: 'DELETE',
      path: `${base}/{member}`,
      policy: policy('delete_member'),
      handle: (context): Answer => {
        const image = images.find(context);
        const member = find(context, image);
        mustOwn(context, image, 'delete_member');
        const { [member]: _removed, ...members } = image.members;
        images.change(image.id, { members });
        return { status: 204 };
      },
    },
  ];
}
