/** Who may do what with an annotation layer of a slide that the account may view. */
import { type LayerEditing, type LayerVisibility, may, type User } from '@lamina/contract';

export interface OwnedLayer {
  /** Null: the owner's account was deleted. */
  readonly owner_uid: string | null;
  readonly visibility: LayerVisibility;
  readonly editing: LayerEditing;
  readonly locked_by: 'owner' | 'admin' | null;
}

type Account = Pick<User, 'uid' | 'status' | 'role'>;

export interface LayerRights {
  readonly read: boolean;
  /** Change annotations, as long as the layer is not locked. */
  readonly annotate: boolean;
  /** Rename, share, delete and restore the layer. */
  readonly manage: boolean;
  /** Lock the layer, or unlock it when it is locked. */
  readonly lock: boolean;
}

export function mayManageAllLayers(account: Account): boolean {
  return may(account, 'annotations.manage');
}

export function layerRightsOf(account: Account, layer: OwnedLayer): LayerRights {
  const isAdmin = mayManageAllLayers(account);
  const isOwner = layer.owner_uid === account.uid;
  const contributes = may(account, 'annotations.write');
  const read = may(account, 'annotations.read') && (isAdmin || isOwner || layer.visibility === 'members');
  const manage = contributes && (isAdmin || isOwner);
  return {
    read,
    annotate: read && contributes && (isAdmin || isOwner || layer.editing === 'members'),
    manage,
    lock: manage && (isAdmin || layer.locked_by !== 'admin'),
  };
}

/** Whether an administrator uses a right that other members do not have, which the audit log records. */
export function isPrivateLayerOfAnother(account: Account, layer: OwnedLayer): boolean {
  return layer.owner_uid !== account.uid && layer.visibility === 'private';
}
