import { errors } from '@lamina/contract';
import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { it } from 'vitest';
import { App } from '../../App.tsx';
import { errorInLanguageOfCall, stubApi } from '../../testing/stub-api.ts';
import { ShareSlide } from './ShareSlide.tsx';
import { imageOf } from './testing/catalogue-server.ts';

it('the dialog that shares a slide, with an error of the server, is in English while the user has chosen no language', async () => {
  stubApi({ 'POST /share-links': errorInLanguageOfCall('sharing_off') });
  const person = userEvent.setup({ delay: null });
  render(
    <App env="test">
      <ShareSlide image={imageOf({ id: '1' })} />
    </App>,
  );
  await person.click(screen.getByRole('button', { name: 'Share' }));
  screen.getByRole('button', { name: 'Close' });
  screen.getByRole('button', { name: 'Cancel' });
  screen.getByTitle('Show password');
  await person.type(screen.getByRole('textbox', { name: 'Title' }), 'Kidney');
  await person.click(screen.getByRole('button', { name: 'Create link' }));
  await screen.findByText(errors.sharing_off.en);
});
