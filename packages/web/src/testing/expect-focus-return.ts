import { screen, waitFor } from '@testing-library/react';
import type { UserEvent } from '@testing-library/user-event';
import { expect } from 'vitest';

/** Opens a dialog by pressing Enter on its button, closes it with Escape, and expects that the button then has the focus again. */
export async function expectFocusReturn(person: UserEvent, button: HTMLElement): Promise<void> {
  button.focus();
  await person.keyboard('{Enter}');
  await screen.findByRole('dialog');
  await person.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await waitFor(() => expect(document.activeElement).toBe(button));
}
