import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { useEffect } from 'react';
import { expect, it, vi } from 'vitest';
import { App } from '../../App.tsx';
import { stubApi } from '../../testing/stub-api.ts';
import type { SlideView } from '../slide-view.ts';
import { Tour, type TourPixels } from './Tour.tsx';

// The real viewer draws with OpenSeadragon, which needs a browser.
vi.mock('../SlideViewer.tsx', () => ({
  SlideViewer: ({ onView }: { readonly onView: (view: SlideView) => void }) => {
    useEffect(() => onView({} as SlideView), [onView]);
    return <p>the slide</p>;
  },
}));
/** Whether the code that draws annotations can be imported. */
let isImportable = false;
vi.mock('./ShareLinkAnnotations.tsx', () => ({
  get ShareLinkAnnotations() {
    if (!isImportable) throw new TypeError('Failed to fetch dynamically imported module');
    return () => <p>the annotations</p>;
  },
}));

it('a tour keeps showing the slide when the code of annotations cannot be loaded, says so, and loads it again on retry', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  stubApi({ 'HEAD /': {} });
  const step = { item: null, title: 'Böbrek', text: null, field: null, colours: null, question: null };
  render(
    <App env="test">
      <Tour
        title="Ders 3"
        steps={[{ ...step, imageId: 'a' }]}
        stepIndex={0}
        onStepChange={() => {}}
        slide={null}
        thumbnailUrl={null}
        pixels={{ session: 'session-1' } as TourPixels}
        isMovable
        collectionId={null}
        isVisitor
        showsAnnotations
        canPresent={false}
        actions={null}
      />
    </App>,
  );
  await screen.findByText('İşaretlemeler yüklenemedi.');
  screen.getByText('the slide');
  isImportable = true;
  await userEvent.click(screen.getByRole('button', { name: 'Tekrar Dene' }));
  await screen.findByText('the annotations');
  expect(screen.queryByText('İşaretlemeler yüklenemedi.')).toBeNull();
});
