/** Rights of an account to an annotation layer (a set of annotations). Callers check the right to view the slide. */
import { type LayerEditing, type LayerVisibility, may, type User } from '@lamina/contract';

export interface OwnedLayer {
  /** Null: the owner's account was deleted. */
  readonly owner_uid: string | null;
  readonly visibility: LayerVisibility;
  /** Who may change annotations: the `owner` only, or all `members` (users who may write annotations). */
  readonly editing: LayerEditing;
  /** Role that locked the layer; null: not locked. */
  readonly locked_by: 'owner' | 'admin' | null;
}

type Account = Pick<User, 'uid' | 'status' | 'role'>;

/** What an account may do with a layer. */
export interface LayerRights {
  readonly read: boolean;
  /** Change annotations. The caller checks that the layer is not locked. */
  readonly annotate: boolean;
  /** Rename, share, delete and restore the layer. */
  readonly manage: boolean;
  /** Lock or unlock the layer. Only an administrator may unlock a layer that an administrator has locked. */
  readonly lock: boolean;
}

/** Whether the account, as an administrator, has all rights to the layers of other owners. */
export function mayManageAllLayers(account: Account): boolean {
  return may(account, 'annotations.manage');
}

/** Returns what the account may do with the layer. */
export function layerRightsOf(account: Account, layer: OwnedLayer): LayerRights {
  const isAdmin = mayManageAllLayers(account);
  const isOwner = layer.owner_uid === account.uid;
  const mayWrite = may(account, 'annotations.write');
  const read = may(account, 'annotations.read') && (isAdmin || isOwner || layer.visibility === 'members');
  const manage = mayWrite && (isAdmin || isOwner);
  return {
    read,
    annotate: read && mayWrite && (isAdmin || isOwner || layer.editing === 'members'),
    manage,
    lock: manage && (isAdmin || layer.locked_by !== 'admin'),
  };
}

/** Whether the layer is another user's private layer. Only administrators may use it; the audit log records the use. */
export function isPrivateLayerOfAnother(account: Account, layer: OwnedLayer): boolean {
  return layer.owner_uid !== account.uid && layer.visibility === 'private';
}
