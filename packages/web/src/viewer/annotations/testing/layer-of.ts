import type { AnnotationLayer } from '@lamina/contract';

/** Returns a layer without annotations, which all members may change unless it is locked. @param id also the name */
export function layerOf(id: string, owner: string, mayAnnotate: boolean): AnnotationLayer {
  return {
    id,
    image_id: 'image',
    name: id,
    owner,
    owner_name: null,
    visibility: 'members',
    editing: 'members',
    locked: !mayAnnotate,
    source: 'manual',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    version: 1,
    deleted_at: null,
    annotation_count: 0,
    counts: [],
    rights: { annotate: mayAnnotate, manage: false, lock: false },
  };
}
