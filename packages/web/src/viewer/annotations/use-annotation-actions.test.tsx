import type { AnnotationFeature } from '@lamina/annotations';
import { act, renderHook, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { copyText } from '../../browser/copy-text.ts';
import type { SlideView } from '../slide-view.ts';
import { HitIndex } from './hit-index.ts';
import { openDrawingMode } from './testing/drawing-mode.ts';
import { texts } from './texts.ts';
import { useAnnotationActions } from './use-annotation-actions.ts';

vi.mock('../../browser/copy-text.ts', () => ({ copyText: vi.fn<typeof copyText>(async () => true) }));

const parentId = '6423a977-ffff-48db-affc-cd11632010f0';
const childId = 'a9d3d08f-35cd-46d4-93d6-08d71feefaa6';

/** Opens the drawing mode on a slide of 1000 × 800 pixels without annotations. */
function renderActions() {
  const { store, session } = openDrawingMode('move', { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 });
  const announce = vi.fn<(text: string) => void>();
  const view = { imageSize: () => ({ width: 1000, height: 800 }) } as SlideView;
  const { result } = renderHook(
    () => useAnnotationActions({ store, session, hitIndex: new HitIndex() }, view, announce),
    { wrapper: ({ children }) => <App env="test">{children}</App> },
  );
  return { store, session, announce, actions: result.current };
}

/** An annotation of one point. */
const pointAt = (x: number, properties: object = {}) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [x, 10] },
  properties,
});

describe('the drawing mode of the viewer, when the user pastes a text,', () => {
  it('shows a message when the text is not GeoJSON, and announces no pasted annotation to screen readers', async () => {
    const { announce, actions } = renderActions();
    act(() => actions.paste('a text'));
    expect((await screen.findByRole('alert')).textContent).toBe('The clipboard contains no GeoJSON');
    expect(announce).not.toHaveBeenCalled();
  });

  it.each([
    ['a class that is only a name', pointAt(1, { classification: 'Tumor' })],
    [
      'a class colour in the format of QuPath 0.3 (colorRGB)',
      pointAt(1, { classification: { name: 'Tumor', colorRGB: -377282 } }),
    ],
    ['measurements in a list', pointAt(1, { measurements: [{ name: 'Area', value: 2 }] })],
    ['a number in the metadata', pointAt(1, { metadata: { slide: 7 } })],
    ['an unknown object type', pointAt(1, { objectType: 'region' })],
    ['only a geometry and is not a feature', pointAt(1).geometry],
  ])('adds a pasted annotation that has %s', (_, json) => {
    const { store, announce, actions } = renderActions();
    act(() => actions.paste(JSON.stringify(json)));
    expect(announce.mock.calls).toEqual([[texts.pasted(1)]]);
    expect(store.selected()).toMatchObject([{ feature: { geometry: { coordinates: [1, 10] } } }]);
  });

  it('adds only the annotations inside the slide, and shows the number of those outside', async () => {
    const { store, announce, actions } = renderActions();
    const features = [pointAt(1), pointAt(1_000_000)];
    act(() => actions.paste(JSON.stringify({ type: 'FeatureCollection', features })));
    expect(announce.mock.calls).toEqual([[texts.pasted(1)]]);
    expect(store.all()).toHaveLength(1);
    expect(await screen.findByText(texts.notPasted(1))).toBeDefined();
  });
});

describe('the drawing mode of the viewer (copies of annotations)', () => {
  /** Opens the drawing mode with a selected annotation, which has a description, and its child. */
  function renderWithChild() {
    const opened = renderActions();
    const feature = (id: string, properties: object): AnnotationFeature => ({
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { objectType: 'annotation', ...properties },
    });
    const features = [feature(parentId, { description: 'Two lines' }), feature(childId, { parentId })];
    opened.store.select(opened.store.change(features.map((created) => ({ feature: created }))));
    return opened;
  }
  /** Returns the annotations that were added after the parent and the child. */
  const addedFeatures = ({ store }: ReturnType<typeof renderActions>) =>
    store.all().flatMap(({ feature }) => ([parentId, childId].includes(feature.id) ? [] : feature));

  it('copies the selection in the format of QuPath, with a child annotation inside its parent', () => {
    const { actions } = renderWithChild();
    act(() => actions.copy());
    const text = vi.mocked(copyText).mock.lastCall?.[0] ?? '';
    expect(JSON.parse(text)).toMatchObject({
      features: [
        {
          id: parentId,
          properties: { metadata: { ANNOTATION_DESCRIPTION: 'Two lines' }, childObjects: [{ id: childId }] },
        },
      ],
    });
  });

  it('pastes the child of a copied annotation as the child of the pasted annotation', () => {
    const opened = renderWithChild();
    act(() => opened.actions.copy());
    act(() => opened.actions.paste(vi.mocked(copyText).mock.lastCall?.[0] ?? ''));
    const [parent, child] = addedFeatures(opened);
    expect(parent?.properties.description).toBe('Two lines');
    expect(child?.properties.parentId).toBe(parent?.id);
  });

  it('duplicates a child annotation as an annotation without a parent when its parent is not selected', () => {
    const opened = renderWithChild();
    const [, child] = opened.store.all();
    opened.store.select([child?.id ?? '']);
    act(() => opened.session.duplicateSelected(10));
    expect(addedFeatures(opened).map(({ properties }) => properties)).toEqual([{ objectType: 'annotation' }]);
  });
});
