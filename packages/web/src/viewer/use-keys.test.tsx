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

it('keyboard shortcuts work without a previous click and while a button has the focus', async () => {
  const { person, pressed } = show();
  await person.keyboard('r?{ArrowLeft}');
  await person.click(screen.getByRole('button', { name: 'Button' }));
  await person.keyboard('r');
  expect(pressed).toEqual(['r', '?', 'left', 'r']);
});

it('a letter with Shift is a keyboard shortcut of its own', async () => {
  const { person, pressed } = show();
  await person.keyboard('{Shift>}R{/Shift}');
  expect(pressed).toEqual(['shift+r']);
});

it('keyboard shortcuts do not work while a text field has the focus', async () => {
  const { person, pressed } = show();
  await person.type(screen.getByLabelText('Field'), 'r?{ArrowLeft}');
  expect(pressed).toEqual([]);
});

it('keyboard shortcuts do not work while a dialog is open', async () => {
  const { person, pressed } = show({ dialog: true });
  await person.keyboard('r');
  expect(pressed).toEqual([]);
});

it('keyboard shortcuts do not override those of the browser', async () => {
  const { person, pressed } = show();
  await person.keyboard('{Control>}r{/Control}{Meta>}r{/Meta}{Alt>}{ArrowLeft}{/Alt}');
  expect(pressed).toEqual([]);
});

it('Enter opens a focused row of the sidebar and acts on the chosen tool everywhere else', async () => {
  const { person, pressed } = show();
  await person.click(screen.getByRole('button', { name: 'Row' }));
  await person.keyboard('{Enter}');
  expect(pressed).toEqual([]);
  await person.click(screen.getByRole('button', { name: 'Button' }));
  await person.keyboard('{Enter}');
  expect(pressed).toEqual(['enter']);
});
