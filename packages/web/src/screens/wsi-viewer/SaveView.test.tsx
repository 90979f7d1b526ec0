import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { it } from 'vitest';
import { App } from '../../App.tsx';
import { ownView } from '../../testing/collections.ts';
import { stubApi } from '../../testing/stub-api.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { SaveView } from './SaveView.tsx';
import { imageOf } from './testing/catalogue-server.ts';

const field = { x: 1, y: 1, zoom: 1, rotation: 0, mirrored: false };
const view = {
  destination: () => field,
  adjustment: () => null,
} as unknown as SlideView;

it.each([
  ['saved the view', ownView(field), 'The view has been saved.'],
  ['did not respond', undefined, 'The view could not be saved. Please try again.'],
])(
  'the dialog that saves a view is in English while the user has chosen no language (the server %s)',
  async (_, answer, message) => {
    stubApi(answer === undefined ? {} : { 'POST /saved-views': answer });
    const person = userEvent.setup({ delay: null });
    render(
      <App env="test">
        <SaveView image={imageOf({ id: '1' })} view={view} isCorrected={false} results={null} />
      </App>,
    );
    await person.click(screen.getByRole('button', { name: 'Save view' }));
    screen.getByRole('button', { name: 'Cancel' });
    await person.type(screen.getByRole('textbox', { name: 'Title' }), 'Edge');
    await person.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText(message);
  },
);
