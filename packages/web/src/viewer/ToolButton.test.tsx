import { MantineProvider } from '@mantine/core';
import { IconRuler } from '@tabler/icons-react';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';
import { ToolButton } from './ToolButton.tsx';

it('ToolButton shows its name and its keyboard shortcut in a tooltip', async () => {
  render(
    <MantineProvider env="test">
      <ToolButton label="Ruler" Icon={IconRuler} shortcut="M" tooltip="left" onClick={() => {}} />
    </MantineProvider>,
  );
  const button = screen.getByRole('button', { name: 'Ruler' });
  expect(button.getAttribute('aria-keyshortcuts')).toBe('M');
  await userEvent.hover(button);
  expect((await screen.findByRole('tooltip')).textContent).toBe('Ruler M');
});

it('ToolButton shows no tooltip while its panel is open, because the tooltip would cover the panel', async () => {
  render(
    <MantineProvider env="test">
      <ToolButton label="Colours" Icon={IconRuler} isExpanded tooltip="left" onClick={() => {}} />
    </MantineProvider>,
  );
  await userEvent.hover(screen.getByRole('button', { name: 'Colours', expanded: true }));
  await expect(screen.findByRole('tooltip', {}, { timeout: 700 })).rejects.toThrow(
    'Unable to find role="tooltip"',
  );
});
