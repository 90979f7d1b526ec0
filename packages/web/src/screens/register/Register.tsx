import { zodResolver } from '@hookform/resolvers/zod';
import { affiliationMaxLength, purposeMaxLength } from '@lamina/contract';
import { Anchor, Button, Group, Stack, Text, Textarea, TextInput, Title } from '@mantine/core';
import { useForm, useWatch } from 'react-hook-form';
import { Link, useNavigate } from 'react-router';
import { z } from 'zod';
import { register as registerAccount } from '../../api/auth.ts';
import { settings } from '../../browser/settings.ts';
import { PasswordField } from '../../components/PasswordField.tsx';
import { PasswordStrength } from '../../components/PasswordStrength.tsx';
import {
  EmailField,
  FirstPasswordField,
  failWith,
  passwordsDifferOptions,
  passwordsMatch,
} from '../../forms/validation.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './Register.module.css';
import { texts } from './texts.ts';

const RegisterForm = z
  .object({
    email: EmailField,
    displayName: z
      .string()
      .trim()
      .max(
        100, // the limit of the API
        failWith(() => sharedTexts.displayNameTooLong), // a function, because the language may change
      ),
    affiliation: z
      .string()
      .trim()
      .max(
        affiliationMaxLength,
        failWith(() => texts.affiliationTooLong),
      ),
    purpose: z
      .string()
      .trim()
      .max(
        purposeMaxLength,
        failWith(() => texts.purposeTooLong),
      ),
    password: FirstPasswordField,
    passwordConfirmation: z.string(),
  })
  .refine(passwordsMatch, passwordsDifferOptions);

/** The registration page. An administrator approves the new account before it can be used. */
export function Register() {
  const navigate = useNavigate();
  const { register, handleSubmit, formState, setError, control } = useForm({
    resolver: zodResolver(RegisterForm),
    defaultValues: {
      email: '',
      displayName: '',
      affiliation: '',
      purpose: '',
      password: '',
      passwordConfirmation: '',
    },
  });
  const { errors, isSubmitting } = formState;
  const typedPassword = useWatch({ control, name: 'password' });

  const submit = handleSubmit(async ({ email, displayName, affiliation, purpose, password }) => {
    const result = await registerAccount({ email, displayName, affiliation, purpose, password });
    if (!result.success && result.field === 'password') {
      setError('password', { message: result.message }, { shouldFocus: true });
      return;
    }
    announce(result);
    if (result.success) await navigate('/auth/login', { state: { registeredEmail: email } });
  });

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack gap="lg">
        <div>
          <Title order={1} size="h2">
            {texts.heading}
          </Title>
          <Text c="dimmed" mt="xs">
            {texts.approvalHint}
          </Text>
        </div>
        <TextInput
          {...register('email')}
          label={sharedTexts.email}
          type="email"
          autoComplete="username"
          error={errors.email?.message}
        />
        <TextInput
          {...register('displayName')}
          label={texts.displayName}
          autoComplete="name"
          error={errors.displayName?.message}
        />
        <PasswordField
          {...register('password')}
          label={sharedTexts.password}
          description={sharedTexts.passwordHint}
          autoComplete="new-password"
          error={errors.password?.message}
        />
        <PasswordStrength password={typedPassword} />
        <PasswordField
          {...register('passwordConfirmation')}
          label={sharedTexts.passwordConfirmation}
          autoComplete="new-password"
          error={errors.passwordConfirmation?.message}
        />
        {/* A field with an error opens the section. Without an error, `open` is omitted, so that the user can open and close it. */}
        <details className={classes.more} {...((errors.affiliation ?? errors.purpose) && { open: true })}>
          <summary>{texts.aboutApplication}</summary>
          <Stack gap="lg" mt="md">
            <TextInput
              {...register('affiliation')}
              label={texts.affiliation}
              autoComplete="organization"
              error={errors.affiliation?.message}
            />
            <Textarea
              {...register('purpose')}
              label={texts.purpose}
              description={texts.purposeHint}
              rows={2}
              resize="vertical"
              error={errors.purpose?.message}
            />
          </Stack>
        </details>
        {settings.privacyNotice !== null && (
          <details className={classes.more}>
            <summary>{texts.privacyNotice}</summary>
            <Text size="sm" mt="sm" className={classes.notice ?? ''}>
              {settings.privacyNotice}
            </Text>
          </details>
        )}
        <Button type="submit" fullWidth loading={isSubmitting}>
          {texts.submit}
        </Button>
        <Group gap="xs" justify="center">
          <Text>{texts.hasAccount}</Text>
          <Anchor component={Link} to="/auth/login">
            {texts.login}
          </Anchor>
        </Group>
      </Stack>
    </form>
  );
}
