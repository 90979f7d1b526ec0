import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { useKeys } from './use-keys.ts';

/** A page with two shortcuts, a field and a button. */
function show({ dialog = false } = {}) {
  const pressed: string[] = [];
  function Page() {
    useKeys({
      r: () => pressed.push('r'),
      'shift+r': () => pressed.push('shift+r'),
      '?': () => pressed.push('?'),
      ArrowLeft: () => pressed.push('left'),
      Enter: () => pressed.push('enter'),
    });
    return (
      <>
        <input aria-label="Field" />
        <button type="button">Button</button>
        <aside>
          <button type="button">Row</button>
        </aside>
        {dialog && <div role="dialog" aria-modal="true" aria-label="Dialog" />}
      </>
    );
  }
  render(<Page />);
  return { person: userEvent.setup({ delay: null }), pressed };
}

it('shortcuts work without a click anywhere, and with the focus on a button', async () => {
  const { person, pressed } = show();
  await person.keyboard('r?{ArrowLeft}');
  await person.click(screen.getByRole('button', { name: 'Button' }));
  await person.keyboard('r');
  expect(pressed).toEqual(['r', '?', 'left', 'r']);
});

it('a letter with Shift is a different shortcut', async () => {
  const { person, pressed } = show();
  await person.keyboard('{Shift>}R{/Shift}');
  expect(pressed).toEqual(['shift+r']);
});

it('shortcuts do not work while typing in a field', async () => {
  const { person, pressed } = show();
  await person.type(screen.getByLabelText('Field'), 'r?{ArrowLeft}');
  expect(pressed).toEqual([]);
});

it('shortcuts do not work in a dialog', async () => {
  const { person, pressed } = show({ dialog: true });
  await person.keyboard('r');
  expect(pressed).toEqual([]);
});

it('shortcuts of the browser keep working', async () => {
  const { person, pressed } = show();
  await person.keyboard('{Control>}r{/Control}{Meta>}r{/Meta}{Alt>}{ArrowLeft}{/Alt}');
  expect(pressed).toEqual([]);
});

it('Enter opens a focused row of the sidebar, and belongs to the tool in use everywhere else', async () => {
  const { person, pressed } = show();
  await person.click(screen.getByRole('button', { name: 'Row' }));
  await person.keyboard('{Enter}');
  expect(pressed).toEqual([]);
  await person.click(screen.getByRole('button', { name: 'Button' }));
  await person.keyboard('{Enter}');
  expect(pressed).toEqual(['enter']);
});
