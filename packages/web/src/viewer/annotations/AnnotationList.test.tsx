import { act, fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { AnnotationList } from './AnnotationList.tsx';
import { AnnotationStore } from './annotation-store.ts';
import { createQueue } from './testing/drawing-mode.ts';
import type { AnnotationActions } from './use-annotation-actions.ts';
import type { SlideAnnotations } from './use-annotations.ts';

/** Shows the list with one annotation of each name, all without a class. */
function renderList(names: readonly string[]) {
  const store = new AnnotationStore('image', createQueue());
  store.change(
    names.map((name) => ({
      feature: {
        type: 'Feature',
        id: name,
        geometry: { type: 'Point', coordinates: [0, 0] },
        properties: { objectType: 'annotation', name },
      },
    })),
  );
  render(
    <App env="test">
      <AnnotationList
        slideAnnotations={{ store } as SlideAnnotations}
        actions={{} as AnnotationActions}
        calibration={null}
      />
    </App>,
  );
  fireEvent.change(screen.getByRole('combobox'), { target: { value: 'name' } }); // sorts by name
  const rowOf = (name: string) => screen.getByRole('button', { name: new RegExp(`^${name}`) });
  const remove = (name: string) =>
    act(async () => {
      const annotation = store.all().find(({ feature }) => feature.id === name);
      store.change([{ ...annotation, feature: null }]);
    });
  return { rowOf, remove };
}

describe('the annotation list of the viewer', () => {
  it.each([
    ['first', 'next', 'Alpha', 'Beta'],
    ['last', 'previous', 'Gamma', 'Beta'],
  ])(
    'moves the focus from the %s annotation to the %s one when the focused annotation is deleted',
    async (_1, _2, deleted, next) => {
      const { rowOf, remove } = renderList(['Alpha', 'Beta', 'Gamma']);
      act(() => rowOf(deleted).focus());
      await remove(deleted);
      await vi.waitFor(() => expect(document.activeElement).toBe(rowOf(next)));
    },
  );

  it('moves the focus to the empty list when the only annotation, which has the focus, is deleted', async () => {
    const { rowOf, remove } = renderList(['Alpha']);
    act(() => rowOf('Alpha').focus());
    await remove('Alpha');
    expect(document.activeElement?.textContent).toContain('This slide has no annotations yet.');
    expect(document.activeElement).not.toBe(document.body);
  });

  it('leaves the focus where it is when an annotation without the focus is deleted', async () => {
    const { rowOf, remove } = renderList(['Alpha', 'Beta']);
    act(() => rowOf('Alpha').focus());
    act(() => screen.getByRole('textbox').focus());
    await remove('Alpha');
    await new Promise((resolve) => setTimeout(resolve, 50)); // longer than one frame
    expect(document.activeElement).toBe(screen.getByRole('textbox'));
  });
});
