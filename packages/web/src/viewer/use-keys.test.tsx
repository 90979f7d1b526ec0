import { render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { useKeys } from './use-keys.ts';

/**
 * Renders a page with five shortcuts, a text field, a checkbox, a link, a button, and a button in the sidebar; `hasDialog` adds an open
 * dialog.
 */
function renderPage({ hasDialog = false } = {}) {
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
        <input type="checkbox" aria-label="Checkbox" />
        <a href="#slides">All slides</a>
        <button type="button">Button</button>
        <aside>
          <button type="button">Row</button>
        </aside>
        {hasDialog && <div role="dialog" aria-modal="true" aria-label="Dialog" />}
      </>
    );
  }
  render(<Page />);
  return { person: userEvent.setup({ delay: null }), pressed };
}

it('useKeys handles shortcuts when nothing has the focus and when a button has the focus', async () => {
  const { person, pressed } = renderPage();
  await person.keyboard('r?{ArrowLeft}');
  await person.click(screen.getByRole('button', { name: 'Button' }));
  await person.keyboard('r');
  expect(pressed).toEqual(['r', '?', 'left', 'r']);
});

it('useKeys calls the action of shift+r, not that of r, when the R key is pressed with Shift', async () => {
  const { person, pressed } = renderPage();
  await person.keyboard('{Shift>}R{/Shift}');
  expect(pressed).toEqual(['shift+r']);
});

it('useKeys ignores shortcuts while a text field has the focus', async () => {
  const { person, pressed } = renderPage();
  await person.type(screen.getByLabelText('Field'), 'r?{ArrowLeft}');
  expect(pressed).toEqual([]);
});

it('useKeys ignores shortcuts while a dialog is open', async () => {
  const { person, pressed } = renderPage({ hasDialog: true });
  await person.keyboard('r');
  expect(pressed).toEqual([]);
});

it('useKeys ignores keys pressed with Ctrl, Command or Alt, which are shortcuts of the browser', async () => {
  const { person, pressed } = renderPage();
  await person.keyboard('{Control>}r{/Control}{Meta>}r{/Meta}{Alt>}{ArrowLeft}{/Alt}');
  expect(pressed).toEqual([]);
});

it('useKeys handles shortcuts while a checkbox has the focus, because the user has just clicked it', async () => {
  const { person, pressed } = renderPage();
  await person.click(screen.getByRole('checkbox', { name: 'Checkbox' }));
  await person.keyboard('r{ArrowLeft}');
  expect(pressed).toEqual(['r', 'left']);
});

it.each([
  ['a row of the sidebar', 'button', 'Row'],
  ['a link', 'link', 'All slides'],
])('useKeys leaves Enter to %s that has the focus', async (_, role, name) => {
  const { person, pressed } = renderPage();
  screen.getByRole(role, { name }).focus();
  await person.keyboard('{Enter}');
  expect(pressed).toEqual([]);
});

it('useKeys handles Enter when nothing has the focus and when a button has the focus, because Enter acts on the chosen tool', async () => {
  const { person, pressed } = renderPage();
  await person.keyboard('{Enter}');
  await person.click(screen.getByRole('button', { name: 'Button' }));
  await person.keyboard('{Enter}');
  expect(pressed).toEqual(['enter', 'enter']);
});
