import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { useKeys } from './use-keys.ts';

/** A page with two keys, a field and a button. */
function show({ dialog = false } = {}) {
  const pressed: string[] = [];
  function Page() {
    useKeys({
      r: () => pressed.push('r'),
      'shift+r': () => pressed.push('shift+r'),
      '?': () => pressed.push('?'),
      ArrowLeft: () => pressed.push('left'),
    });
    return (
      <>
        <input aria-label="Field" />
        <button type="button">Button</button>
        {dialog && <div role="dialog" aria-modal="true" aria-label="Dialog" />}
      </>
    );
  }
  render(<Page />);
  return { person: userEvent.setup({ delay: null }), pressed };
}

it('keys work without a click anywhere, and with the focus on a button', async () => {
  const { person, pressed } = show();
  await person.keyboard('r?{ArrowLeft}');
  await person.click(screen.getByRole('button'));
  await person.keyboard('r');
  expect(pressed).toEqual(['r', '?', 'left', 'r']);
});

it('a letter with Shift is another key', async () => {
  const { person, pressed } = show();
  await person.keyboard('{Shift>}R{/Shift}');
  expect(pressed).toEqual(['shift+r']);
});

it('keys are left to the field that is typed into', async () => {
  const { person, pressed } = show();
  await person.type(screen.getByLabelText('Field'), 'r?{ArrowLeft}');
  expect(pressed).toEqual([]);
});

it('keys are left to a dialog', async () => {
  const { person, pressed } = show({ dialog: true });
  await person.keyboard('r');
  expect(pressed).toEqual([]);
});

it('shortcuts of the browser stay its own', async () => {
  const { person, pressed } = show();
  await person.keyboard('{Control>}r{/Control}{Meta>}r{/Meta}{Alt>}{ArrowLeft}{/Alt}');
  expect(pressed).toEqual([]);
});
